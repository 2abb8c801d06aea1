/* test: args=one;two_words;-n;--help env=OMPRMA_TEST_WORD=forty-two stdin=programs/process.input
 * Arguments, environment and standard input reach the program as they are. */
#include "check.h"

int main(int argc, char **argv)
{
    char line[200];
    check_devices();
    for (int i = 1; i < argc; i++)
        printf("argument %d: %s\n", i, argv[i]);
    const char *word = getenv("OMPRMA_TEST_WORD");
    printf("word: %s\n", word ? word : "none");
    long bytes = 0, lines = 0;
    while (fgets(line, sizeof(line), stdin)) {
        size_t length = strlen(line);
        long sum = 0;
#pragma omp target map(to : line [0:200]) map(tofrom : sum)
        for (size_t i = 0; i < length; i++)
            sum += line[i] != '\n';
        bytes += sum;
        lines++;
    }
    printf("%ld lines, %ld characters\n", lines, bytes);
    return failures;
}
