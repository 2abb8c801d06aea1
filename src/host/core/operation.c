/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * operation.c: operations and failures as objects. Both are counted by references. An operation
 * that nobody holds goes back to a pool, and is cleared when it is taken again, as far as its kind
 * uses it.
 */
#include "host/core/operation.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* ---- failures ---- */

/* Stands in where there is no memory for another; never freed. */
static struct failure no_memory = {
    .status = OMPRMA_ERR_HOST_MEMORY,
    .text = "an operation has failed, and there is no memory to say how",
};

struct failure *failure_create(omprma_status_t status, int code, const char *text)
{
    struct failure *failure = malloc(sizeof(*failure));

    if (!failure)
        return &no_memory;
    failure->references = 1;
    failure->status = status;
    failure->code = code;
    snprintf(failure->text, sizeof(failure->text), "%s", text);
    return failure;
}

struct failure *failure_hold(struct failure *failure)
{
    if (failure != &no_memory)
        failure->references++;
    return failure;
}

void failure_drop(struct failure *failure)
{
    if (failure && failure != &no_memory && --failure->references == 0)
        free(failure);
}

omprma_status_t failure_report(const struct failure *failure)
{
    error_set(failure->status, "%s", failure->text);
    return error_note_code(failure->status, failure->code);
}

/* ---- operations ---- */

#define BYTES_WITH(part) (offsetof(struct operation, part) + sizeof(((struct operation *)0)->part))

/* How much of an operation is cleared: what a path keeps for a transfer is most of it, and small
 * regions have none. In a table, for compilers make slow code (rep stos) of sizes that they know.
 */
static const size_t cleared[] = {
    [OPERATION_WRITE] = offsetof(struct operation, command),
    [OPERATION_READ] = offsetof(struct operation, command),
    [OPERATION_COMMAND] = BYTES_WITH(command),
    [OPERATION_TRANSFER] = BYTES_WITH(move),
    [OPERATION_WAIT] = BYTES_WITH(wait),
    [OPERATION_TASK] = offsetof(struct operation, command),
    [OPERATION_MARK] = BYTES_WITH(mark),
};

struct operation *operation_take(struct operation_pool *pool, enum operation_kind kind)
{
    struct operation *operation = pool->spare;

    if (operation) {
        pool->spare = operation->next;
    } else {
        operation = malloc(sizeof(*operation));
    }
    if (!operation) {
        error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for an operation");
        return NULL;
    }
    memset(operation, 0, cleared[kind]);
    operation->kind = kind;
    operation->references = 1;
    return operation;
}

struct operation *operation_hold(struct operation *operation)
{
    operation->references++;
    return operation;
}

void operation_drop(struct operation_pool *pool, struct operation *operation)
{
    if (!operation || --operation->references > 0)
        return;
    failure_drop(operation->failure);
    if (operation_has_command(operation))
        operation_drop(pool, operation->move.command);
    operation->next = pool->spare;
    pool->spare = operation;
}

void operation_pool_free(struct operation_pool *pool)
{
    while (pool->spare) {
        struct operation *operation = pool->spare;

        pool->spare = operation->next;
        free(operation);
    }
}

const char *operation_name(const struct operation *operation)
{
    static const char *const names[] = {
        [OPERATION_WRITE] = "small submit", [OPERATION_READ] = "small retrieve",
        [OPERATION_COMMAND] = "command",    [OPERATION_WAIT] = "wait",
        [OPERATION_MARK] = "event",
    };

    if (operation->task.task)
        return operation->task.task->name;
    if (operation->kind == OPERATION_TRANSFER)
        return operation->by->moves[operation->fills_host];
    return names[operation->kind];
}
