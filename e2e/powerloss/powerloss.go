// Package powerloss cuts the program's power in the middle of its work, and checks what is
// left. Its tests run the program as a process whose data folder is on a disk that
// forgets everything that was not synced.
package powerloss
