// Package gateway holds the words that all packages of the program share: instances,
// messages, recipients, keys, error kinds, and the port to the messenger platform:
// Connector, Session, Lifecycle and Receiver.
//
// It is vocabulary and rules, without a database, a network or a library beyond the
// standard one. Every other package may import it; it imports none.
package gateway
