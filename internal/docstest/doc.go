// Package docstest runs the documents: it carries out every command of the guide,
// starts the receivers of the webhooks page, and makes the events that the events
// page shows. A document that is not what the program does fails here. The package
// has nothing but tests.
package docstest
