// Package upgradetest opens the data that earlier versions of the program have written, and
// sees that nothing of them is missing. testdata/README.md says how a version's data are
// added. It has nothing but tests.
package upgradetest
