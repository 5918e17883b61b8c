#pragma once

void crash_note_in(int fd);
