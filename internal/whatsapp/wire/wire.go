// Package wire translates between the platform's words and the gateway's: identifiers,
// the content of messages, changes, receipts, groups, errors. It has no session, no
// network and no database.
package wire
