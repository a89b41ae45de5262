// Package commandtest runs the commands of the program as processes, some of them in a window, as
// people at a terminal do. It has nothing but tests.
package commandtest
