// Package storetest tests the behaviour that the store has on both of its databases. Each test is
// written once and runs on each of them.
package storetest
