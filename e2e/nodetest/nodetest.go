// Package nodetest runs several nodes on one PostgreSQL database as real processes, with a
// sandbox that is a process too, and takes away from them what a machine can lose: the
// process, its time, its network, its clock. It has no code but tests.
package nodetest
