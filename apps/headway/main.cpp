// The program `headway`; everything it can do is a verb in a file of its own.
#include "apps/headway/verb.h"

int main(int argc, char** argv) { return headway::apps::dispatch(argc, argv); }
