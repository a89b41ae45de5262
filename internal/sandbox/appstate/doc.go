// Package appstate is the app state of an account, the settings that its devices
// share in five encrypted, versioned collections, and the history that a phone
// sends to a newly linked device.
//
// It keeps and sends nothing itself. Package setting keeps the state and answers
// requests with it, and package phone sends histories.
package appstate
