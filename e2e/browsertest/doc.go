// Package browsertest has only tests: people's ways through the dashboard and the page of
// the phones, in a real browser at the whole program. It holds what tests over HTTP can't
// see: scripts, streams, colours, sizes, the console.
package browsertest
