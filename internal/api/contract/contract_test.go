package contract

import (
	"context"
	"log/slog"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/share"
)

// A start neither makes nor keeps the schemas of answers, which are most of the document. Here they
// can't be made: two types have one name.
func TestSchemasOfAnswersAreForTheDocumentAlone(t *testing.T) {
	t.Parallel()
	many := func() int { return 0 }
	served, err := New(Config{
		Authenticate: func(context.Context, string) (gateway.Key, error) { return gateway.Key{}, nil },
		FindInstance: func(context.Context, string) (gateway.Instance, error) { return gateway.Instance{}, nil },
		Routes:       []Route{Get("/first", firstAnswer()), Get("/second", secondAnswer())},
		Logger:       slog.New(slog.DiscardHandler),
		Requests:     share.New(share.Config{Name: "requests"}),
		PerKey:       many, PerInstance: many,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("the document has one schema for two types")
		}
	}()
	served.NewDocument()
}

func firstAnswer() Endpoint {
	type answer struct{ First string }
	return Handle(Operation{ID: "first"}, func(context.Context, *struct{}) (answer, error) { return answer{}, nil })
}

func secondAnswer() Endpoint {
	type answer struct{ Second string }
	return Handle(Operation{ID: "second"}, func(context.Context, *struct{}) (answer, error) { return answer{}, nil })
}
