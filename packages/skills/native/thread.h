/* Starts a thread that needs little room, and gets no signal: those are for Node's own threads. */
#ifndef METIER_THREAD_H
#define METIER_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

static inline bool start_thread(pthread_t *thread, void *(*work)(void *), void *given) {
  pthread_attr_t how;
  sigset_t all, before;
  if (pthread_attr_init(&how) != 0) return false;
  pthread_attr_setstacksize(&how, 256 * 1024);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool has_started = pthread_create(thread, &how, work, given) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&how);
  return has_started;
}

#endif
