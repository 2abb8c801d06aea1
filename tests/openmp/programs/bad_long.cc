/* test: needs=worker reference=no status=nonzero stderr=work<.*:16.crashed.*:.that.is.a.null.pointer
 * The name of the kernel has more than 5,000 characters: its line says nevertheless what has happened. */
template <class A, class B> struct pair_of {
};
template <int N> struct deep {
    using type = pair_of<typename deep<N - 1>::type, struct one_more_policy_of_execution>;
};
template <> struct deep<0> {
    using type = int;
};

template <class T> static void work()
{
    int *nowhere = nullptr;

#pragma omp target firstprivate(nowhere)
    *nowhere = 1;
}

int main()
{
    work<deep<700>::type>();
}
