// Package watchtest looks at a running program as those do who watch it: it scrapes the
// metrics, makes everything happen that an alert is for, and holds docs/monitoring.md, the rules
// and the dashboard of deploy/ to what it sees. The package has nothing but tests.
package watchtest
