// Holds nothing: this target exists for its precompiled headers.
