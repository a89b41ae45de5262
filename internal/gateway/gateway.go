// Package gateway holds the words that every room of the program shares:
// instances, messages, recipients, keys, error kinds and the port behind which
// the messenger platform lies.
//
// It is vocabulary and rules, without a database, a network or a library
// beyond the standard one. Every other room may import it; it imports none.
package gateway
