/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* location.c: such a string is taken apart at its semicolons. */
#include "openmp/abi/location.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Field `index` of ";a;b;c;;". */
struct name name_field(const char *text, int index)
{
    struct name field = {"unknown", 7};
    if (!text || *text != ';')
        return field;
    for (; index > 0; index--) {
        text = strchr(text + 1, ';');
        if (!text)
            return field;
    }
    int length = (int)strcspn(text + 1, ";");
    if (length > 0)
        field = (struct name){text + 1, length};
    return field;
}

struct name name_of(const void *map_name)
{
    enum { SHOWN = 200 }; /* of an expression that a macro has made */
    const char *text = map_name;
    struct name name = text && *text && *text != ';' /* a plain name */
                           ? (struct name){text, (int)strcspn(text, ";")}
                           : name_field(text, 0);
    name.length = name.length < SHOWN ? name.length : SHOWN;
    return name;
}

bool location_known(const struct location *where)
{
    return where && where->where && strncmp(where->where, ";unknown;", 9) != 0 &&
           *where->where == ';';
}

struct name location_file(const struct location *where)
{
    return name_field(where->where, 0);
}

/* Without folders, as LLVM's lines have it. */
struct name name_base(struct name file)
{
    for (int i = file.length - 1; i >= 0; i--)
        if (file.text[i] == '/')
            return (struct name){file.text + i + 1, file.length - i - 1};
    return file;
}

int location_number(const struct location *where, int index)
{
    return atoi(name_field(where->where, index).text);
}

bool location_words(const struct location *where, char *text, size_t room)
{
    if (!location_known(where))
        return false;
    struct name file = location_file(where);
    snprintf(text, room, "%.*s:%d", file.length, file.text, location_number(where, 2));
    return true;
}
