// Package signal is the Signal protocol of a simulated phone (device 0), which its
// linked devices and other people's devices write to. It makes prekey bundles,
// keeps sessions, and encrypts and decrypts messages, one to one and with sender
// keys in groups.
//
// It knows neither nodes nor the contents of messages, and keeps nothing itself:
// each operation reads from a Store and applies its changes in one batch.
//
// libsignal, on which it is built, prints to the standard output. A program must
// call signallog.Quiet before it uses the first Device.
package signal
