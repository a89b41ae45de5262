// Package watchtest looks at a running program as those do who watch it: it scrapes the
// metrics and holds docs/monitoring.md to them. The package has nothing but tests.
package watchtest
