/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gpu_questions.h: what GPUs of every kind can be asked by omprma_device_ask(). Further questions
 * are of one kind, and begin behind these.
 */
#ifndef OMPRMA_BASE_GPU_QUESTIONS_H
#define OMPRMA_BASE_GPU_QUESTIONS_H

enum gpu_question {
    /* nothing -> text, without a zero at its end: for a line about the GPU */
    GPU_ASK_SUMMARY
};

enum { GPU_SUMMARY_BYTES = 256 };

#endif
