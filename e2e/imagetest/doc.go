// Package imagetest checks what people run the program from: it builds the image of the
// Dockerfile and runs the program in it, and reads the other files of a deployment. The
// package has nothing but tests.
package imagetest
