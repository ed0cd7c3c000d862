// In the place of preload_linux.cpp on other systems, where no wall clock of a program is moved: it
// is the machine's. Its users ask whether a program follows it.

extern "C" __attribute__((visibility("default"))) const int redlock_clock_is_the_machines = 1;
