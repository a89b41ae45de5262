// Package noise is the transport between the sandbox and its clients: frames in
// websocket messages, the server's side of the Noise XX handshake with its
// certificate chain, and encrypted binary nodes.
//
// It does not look into nodes. Package wire sends and receives them, and package
// session decides who may log in.
package noise
