/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gpu_faults.h: a GPU faults while several queues of it and of its neighbours are at work.
 * Everything ends, and the neighbours go on. Included by a test of a kind of GPU, after its fixture
 * and FAULT_CODE, with which its kernel standin_fault faults.
 */
#ifndef OMPRMA_TESTS_GPU_FAULTS_H
#define OMPRMA_TESTS_GPU_FAULTS_H

enum { ROUNDS = 24, QUEUES = 6, OPERATIONS = 12, ROOM = 3 * CORE_PIECE, LIMIT_S = 60 };

static unsigned char data[QUEUES][ROOM];

struct work {
    omprma_queue_t *queue[QUEUES];
    omprma_addr_t block[NATIVE + 1][QUEUES];
    omprma_addr_t add[NATIVE + 1];
    struct draw from;
};

static uint64_t draw_bytes(struct draw *from)
{
    return 1 + draw_size(from, ROOM - 1);
}

/* Some of them in one command, some too large for that. */
static void region(const struct work *work, omprma_queue_t *queue, omprma_addr_t block, int number,
                   uint64_t bytes)
{
    const uint64_t arguments[] = {block, bytes, 1};
    const omprma_part_t part = {.to = data[number], .bytes = bytes};
    const omprma_region_t region = {
        .to = block,
        .from = data[number],
        .bytes = bytes,
        .kernel = work->add[number % (NATIVE + 1)],
        .arguments = arguments,
        .count = 3,
        .back = block,
        .back_bytes = bytes,
        .parts = &part,
        .part_count = 1,
    };

    omprma_region(queue, &region);
}

/* Whether it is taken depends on whether the fault has been noticed. */
static void do_something(struct work *work, int number)
{
    int device = number % (NATIVE + 1), other = (int)draw_below(&work->from, NATIVE + 1);
    omprma_queue_t *queue = work->queue[number];
    omprma_addr_t block = work->block[device][number];
    uint64_t bytes = draw_bytes(&work->from);

    switch (draw_below(&work->from, 6)) {
    case 0:
        omprma_submit(queue, block, data[number], bytes);
        break;
    case 1:
        omprma_retrieve(queue, data[number], block, bytes);
        break;
    case 2:
        omprma_exchange(queue, block, other, work->block[other][number], bytes);
        break;
    case 3:
        omprma_fill(queue, block, "abcd", 4, bytes / 4);
        break;
    case 4:
        region(work, queue, block, number, 1 + bytes % 3000);
        break;
    default:
        launch(queue, work->add[device], block, bytes, 1);
        break;
    }
}

static void prepare(struct work *work)
{
    for (int device = GPU; device <= NATIVE; device++) {
        work->add[device] = device == NATIVE ? KERNEL(kernel_add) : look_up(device, "standin_add");
        for (int i = 0; i < QUEUES; i++)
            work->block[device][i] = core_alloc(device, ROOM);
    }
    for (int i = 0; i < QUEUES; i++)
        work->queue[i] = core_queue(i % (NATIVE + 1));
}

static int go_round(int round)
{
    bool no_window = round % 3 == 0;
    const uint64_t code = FAULT_CODE;
    struct work work = {.from = {(uint64_t)round}};
    omprma_addr_t fault;
    omprma_queue_t *bad;

    open_driver();
    gpus_made = 0;
    core_start(&(struct core_options){
        .devices = 3, .arena = 8 << 20, .make_other = make_gpu, .no_window = no_window});
    prepare(&work);
    for (int device = GPU; device <= NATIVE; device++)
        core_choose_any(device, &work.from);
    core_exchange_by(no_window ? EXCHANGE_SEND
                               : (enum config_exchange)(EXCHANGE_PUT + draw_below(&work.from, 4)));
    fault = look_up(GPU, "standin_fault");
    bad = core_queue(GPU);
    for (int i = 0; i < OPERATIONS * QUEUES; i++) {
        if (i == OPERATIONS * QUEUES / 2)
            assert_ok(omprma_launch(bad, fault, NULL, &code, 1));
        do_something(&work, (int)draw_below(&work.from, QUEUES));
        if (draw_below(&work.from, 4) == 0)
            omprma_queue_flush(work.queue[draw_below(&work.from, QUEUES)]);
    }
    assert_int_equal(omprma_queue_synchronize(bad), OMPRMA_ERR_KERNEL);
    assert_int_equal(omprma_error_code(), FAULT_CODE);
    for (int i = 0; i < QUEUES; i++)
        omprma_queue_synchronize(work.queue[i]);
    there_and_back(NATIVE, 100000, 0);
    there_and_back(GPU_TOO, 100000, work.add[GPU_TOO]);
    exchange(GPU_TOO, NATIVE, 70000, 0);
    for (int i = 0; i < QUEUES; i++)
        omprma_queue_destroy(work.queue[i]);
    omprma_queue_destroy(bad);
    core_stop();
    return EXIT_SUCCESS;
}

TEST(everything_ends)
{
    for (int round = 1; round <= ROUNDS; round++) {
        int status = in_a_process(go_round, round, LIMIT_S);

        if (status != 0)
            fail_msg("round %d ends with 0x%x", round, (unsigned)status);
    }
}

#endif
