package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
)

// BenchmarkGroups lists 500 groups of 20 members over HTTP, page by page. The metric
// ms/first is the first list of the connection, for which the platform is asked.
func BenchmarkGroups(b *testing.B) {
	const groups, members = 500, 18
	g, id := testkit.StartLinked(b, testkit.Options{})
	people := []string{shopNumber}
	for n := range members {
		people = append(people, fmt.Sprintf("55119666601%02d", n+11))
	}
	for n := range groups {
		g.Phones.CreateGroup(b, fmt.Sprint("Group ", n), customerNumber, people...)
	}
	list := func() {
		count := 0
		for _, err := range g.Client.Groups(b.Context(), id, client.ListGroupsParams{}) {
			if err != nil {
				b.Fatal(err)
			}
			count++
		}
		if count != groups {
			b.Fatalf("%d groups", count)
		}
	}
	began := time.Now()
	list()
	first := time.Since(began)
	for b.Loop() {
		list()
	}
	b.ReportMetric(float64(first.Microseconds())/1000, "ms/first")
}
