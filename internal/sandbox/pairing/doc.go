// Package pairing is the cryptography with which a phone links a client, its
// companion. It reads QR codes, signs the companion's identity and checks the
// companion's answer, and does the phone's side of linking by an eight-character
// code.
//
// Its functions are pure except that they draw random bytes. Package link sends the
// nodes and keeps the state.
package pairing
