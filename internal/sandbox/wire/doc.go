// Package wire holds what the platform needs to talk with one client: the
// connection with its reader and its writer, nodes and their attributes,
// acknowledgements, and the errors that answer requests.
//
// It knows neither accounts nor the database. Package session serves clients with
// it.
package wire
