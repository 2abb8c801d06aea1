/* test:
 * A region with 60 mapped variables and 60 values. */
#include "check.h"

int main(void)
{
    check_devices();
    int m0 = 0, m1 = 1, m2 = 2, m3 = 3, m4 = 4, m5 = 5, m6 = 6, m7 = 7, m8 = 8, m9 = 9, m10 = 10,
        m11 = 11, m12 = 12, m13 = 13, m14 = 14, m15 = 15, m16 = 16, m17 = 17, m18 = 18, m19 = 19,
        m20 = 20, m21 = 21, m22 = 22, m23 = 23, m24 = 24, m25 = 25, m26 = 26, m27 = 27, m28 = 28,
        m29 = 29, m30 = 30, m31 = 31, m32 = 32, m33 = 33, m34 = 34, m35 = 35, m36 = 36, m37 = 37,
        m38 = 38, m39 = 39, m40 = 40, m41 = 41, m42 = 42, m43 = 43, m44 = 44, m45 = 45, m46 = 46,
        m47 = 47, m48 = 48, m49 = 49, m50 = 50, m51 = 51, m52 = 52, m53 = 53, m54 = 54, m55 = 55,
        m56 = 56, m57 = 57, m58 = 58, m59 = 59;
    double v0 = 0.5, v1 = 1.5, v2 = 2.5, v3 = 3.5, v4 = 4.5, v5 = 5.5, v6 = 6.5, v7 = 7.5, v8 = 8.5,
           v9 = 9.5, v10 = 10.5, v11 = 11.5, v12 = 12.5, v13 = 13.5, v14 = 14.5, v15 = 15.5,
           v16 = 16.5, v17 = 17.5, v18 = 18.5, v19 = 19.5, v20 = 20.5, v21 = 21.5, v22 = 22.5,
           v23 = 23.5, v24 = 24.5, v25 = 25.5, v26 = 26.5, v27 = 27.5, v28 = 28.5, v29 = 29.5,
           v30 = 30.5, v31 = 31.5, v32 = 32.5, v33 = 33.5, v34 = 34.5, v35 = 35.5, v36 = 36.5,
           v37 = 37.5, v38 = 38.5, v39 = 39.5, v40 = 40.5, v41 = 41.5, v42 = 42.5, v43 = 43.5,
           v44 = 44.5, v45 = 45.5, v46 = 46.5, v47 = 47.5, v48 = 48.5, v49 = 49.5, v50 = 50.5,
           v51 = 51.5, v52 = 52.5, v53 = 53.5, v54 = 54.5, v55 = 55.5, v56 = 56.5, v57 = 57.5,
           v58 = 58.5, v59 = 59.5;
#pragma omp target map(tofrom                                                                      \
                       : m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15,     \
                         m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29,     \
                         m30, m31, m32, m33, m34, m35, m36, m37, m38, m39, m40, m41, m42, m43,     \
                         m44, m45, m46, m47, m48, m49, m50, m51, m52, m53, m54, m55, m56, m57,     \
                         m58, m59)                                                                 \
    firstprivate(v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16, v17,   \
                 v18, v19, v20, v21, v22, v23, v24, v25, v26, v27, v28, v29, v30, v31, v32, v33,   \
                 v34, v35, v36, v37, v38, v39, v40, v41, v42, v43, v44, v45, v46, v47, v48, v49,   \
                 v50, v51, v52, v53, v54, v55, v56, v57, v58, v59)
    {
        m0 += (int)(v0 * 2);
        m1 += (int)(v7 * 2);
        m2 += (int)(v14 * 2);
        m3 += (int)(v21 * 2);
        m4 += (int)(v28 * 2);
        m5 += (int)(v35 * 2);
        m6 += (int)(v42 * 2);
        m7 += (int)(v49 * 2);
        m8 += (int)(v56 * 2);
        m9 += (int)(v3 * 2);
        m10 += (int)(v10 * 2);
        m11 += (int)(v17 * 2);
        m12 += (int)(v24 * 2);
        m13 += (int)(v31 * 2);
        m14 += (int)(v38 * 2);
        m15 += (int)(v45 * 2);
        m16 += (int)(v52 * 2);
        m17 += (int)(v59 * 2);
        m18 += (int)(v6 * 2);
        m19 += (int)(v13 * 2);
        m20 += (int)(v20 * 2);
        m21 += (int)(v27 * 2);
        m22 += (int)(v34 * 2);
        m23 += (int)(v41 * 2);
        m24 += (int)(v48 * 2);
        m25 += (int)(v55 * 2);
        m26 += (int)(v2 * 2);
        m27 += (int)(v9 * 2);
        m28 += (int)(v16 * 2);
        m29 += (int)(v23 * 2);
        m30 += (int)(v30 * 2);
        m31 += (int)(v37 * 2);
        m32 += (int)(v44 * 2);
        m33 += (int)(v51 * 2);
        m34 += (int)(v58 * 2);
        m35 += (int)(v5 * 2);
        m36 += (int)(v12 * 2);
        m37 += (int)(v19 * 2);
        m38 += (int)(v26 * 2);
        m39 += (int)(v33 * 2);
        m40 += (int)(v40 * 2);
        m41 += (int)(v47 * 2);
        m42 += (int)(v54 * 2);
        m43 += (int)(v1 * 2);
        m44 += (int)(v8 * 2);
        m45 += (int)(v15 * 2);
        m46 += (int)(v22 * 2);
        m47 += (int)(v29 * 2);
        m48 += (int)(v36 * 2);
        m49 += (int)(v43 * 2);
        m50 += (int)(v50 * 2);
        m51 += (int)(v57 * 2);
        m52 += (int)(v4 * 2);
        m53 += (int)(v11 * 2);
        m54 += (int)(v18 * 2);
        m55 += (int)(v25 * 2);
        m56 += (int)(v32 * 2);
        m57 += (int)(v39 * 2);
        m58 += (int)(v46 * 2);
        m59 += (int)(v53 * 2);
    }
    CHECK_EQUAL(m0, 1);
    CHECK_EQUAL(m1, 16);
    CHECK_EQUAL(m2, 31);
    CHECK_EQUAL(m3, 46);
    CHECK_EQUAL(m4, 61);
    CHECK_EQUAL(m5, 76);
    CHECK_EQUAL(m6, 91);
    CHECK_EQUAL(m7, 106);
    CHECK_EQUAL(m8, 121);
    CHECK_EQUAL(m9, 16);
    CHECK_EQUAL(m10, 31);
    CHECK_EQUAL(m11, 46);
    CHECK_EQUAL(m12, 61);
    CHECK_EQUAL(m13, 76);
    CHECK_EQUAL(m14, 91);
    CHECK_EQUAL(m15, 106);
    CHECK_EQUAL(m16, 121);
    CHECK_EQUAL(m17, 136);
    CHECK_EQUAL(m18, 31);
    CHECK_EQUAL(m19, 46);
    CHECK_EQUAL(m20, 61);
    CHECK_EQUAL(m21, 76);
    CHECK_EQUAL(m22, 91);
    CHECK_EQUAL(m23, 106);
    CHECK_EQUAL(m24, 121);
    CHECK_EQUAL(m25, 136);
    CHECK_EQUAL(m26, 31);
    CHECK_EQUAL(m27, 46);
    CHECK_EQUAL(m28, 61);
    CHECK_EQUAL(m29, 76);
    CHECK_EQUAL(m30, 91);
    CHECK_EQUAL(m31, 106);
    CHECK_EQUAL(m32, 121);
    CHECK_EQUAL(m33, 136);
    CHECK_EQUAL(m34, 151);
    CHECK_EQUAL(m35, 46);
    CHECK_EQUAL(m36, 61);
    CHECK_EQUAL(m37, 76);
    CHECK_EQUAL(m38, 91);
    CHECK_EQUAL(m39, 106);
    CHECK_EQUAL(m40, 121);
    CHECK_EQUAL(m41, 136);
    CHECK_EQUAL(m42, 151);
    CHECK_EQUAL(m43, 46);
    CHECK_EQUAL(m44, 61);
    CHECK_EQUAL(m45, 76);
    CHECK_EQUAL(m46, 91);
    CHECK_EQUAL(m47, 106);
    CHECK_EQUAL(m48, 121);
    CHECK_EQUAL(m49, 136);
    CHECK_EQUAL(m50, 151);
    CHECK_EQUAL(m51, 166);
    CHECK_EQUAL(m52, 61);
    CHECK_EQUAL(m53, 76);
    CHECK_EQUAL(m54, 91);
    CHECK_EQUAL(m55, 106);
    CHECK_EQUAL(m56, 121);
    CHECK_EQUAL(m57, 136);
    CHECK_EQUAL(m58, 151);
    CHECK_EQUAL(m59, 166);
    return finish("arguments");
}
