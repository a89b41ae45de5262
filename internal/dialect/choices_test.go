package dialect_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/dialect"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// posted are the messages that choices become, in order: the texts, and the last one as a poll.
func posted(t *testing.T, choices dialect.Choices) (texts []string, poll client.Poll) {
	t.Helper()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if strings.HasSuffix(r.URL.Path, "/poll") {
			err = json.Unmarshal(content, &poll)
		} else {
			var text client.Text
			err = json.Unmarshal(content, &text)
			texts = append(texts, text.Message)
		}
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id":"1","messageId":"3EB0"}`)
	})
	as := dialect.NewGateway(handler, nil).As(httptest.NewRequest(http.MethodPost, "/", http.NoBody), "test", "K")
	if _, err := choices.Send(t.Context(), as, "one"); err != nil {
		t.Fatal(err)
	}
	return texts, poll
}

// Choices become a poll, with a text where a poll does not hold what they say.
func TestChoices(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ã", 300)
	for _, test := range []struct {
		name     string
		choices  dialect.Choices
		texts    []string
		question string
		options  []string
		ids      []string
	}{
		{"buttons", dialect.Choices{Form: dialect.FormButtons, Text: []string{"Title", " ", "Body"}, Options: []dialect.Choice{{ID: "1", Label: "Yes"}, {ID: "2", Label: "No"}}}, nil, "Title\n\nBody", []string{"Yes", "No"}, []string{"1", "2"}},
		{"labels that are the same", dialect.Choices{Text: []string{"?"}, Options: []dialect.Choice{{ID: "1", Label: "A"}, {ID: "2", Label: " A "}, {ID: "3", Label: "A"}}}, nil, "?", []string{"A", "A (2)", "A (3)"}, []string{"1", "2", "3"}},
		{"long labels", dialect.Choices{Text: []string{"?"}, Options: []dialect.Choice{{ID: "1", Label: long}, {ID: "2", Label: long}}}, nil, "?", []string{strings.Repeat("ã", 99) + "…", strings.Repeat("ã", 95) + "… (2)"}, []string{"1", "2"}},
		{"no labels, no IDs", dialect.Choices{Text: []string{"?"}, Options: []dialect.Choice{{ID: "1"}, {Label: "B"}}}, nil, "?", []string{"1", "B"}, []string{"1", "B"}},
		{"descriptions", dialect.Choices{Text: []string{"?"}, Options: []dialect.Choice{{ID: "1", Label: "A", Description: "the first"}, {ID: "2", Label: "B"}}}, nil, "?\n\nA: the first", []string{"A", "B"}, []string{"1", "2"}},
		{"a long question", dialect.Choices{Text: []string{long}, Options: []dialect.Choice{{ID: "1", Label: "A"}, {ID: "2", Label: "B"}}}, []string{long}, "👇", []string{"A", "B"}, []string{"1", "2"}},
		{"a long question of a list", dialect.Choices{Text: []string{long}, Prompt: "Options", Options: []dialect.Choice{{ID: "1", Label: "A"}, {ID: "2", Label: "B"}}}, []string{long}, "Options", []string{"A", "B"}, []string{"1", "2"}},
		{"no question", dialect.Choices{Options: []dialect.Choice{{ID: "1", Label: "A"}, {ID: "2", Label: "B"}}}, nil, "👇", []string{"A", "B"}, []string{"1", "2"}},
		{"one choice", dialect.Choices{Text: []string{"?"}, Options: []dialect.Choice{{ID: "1", Label: "A"}}}, []string{"?\n\n👇 A"}, "", nil, nil},
		{"no choice", dialect.Choices{Text: []string{"?", "Site: https://u"}}, []string{"?\n\nSite: https://u"}, "", nil, nil},
	} {
		texts, poll := posted(t, test.choices)
		if !slices.Equal(texts, test.texts) || poll.Question != test.question || !slices.Equal(poll.Options, test.options) || !slices.Equal(poll.OptionIDs, test.ids) || poll.Reference != string(test.choices.Form) && poll.Question != "" {
			t.Errorf("%s become %q and %+v", test.name, texts, poll)
		}
	}
}

// What the API will refuse is asked for without the text before it, and costs no more than what it takes.
func TestChoicesThatAreRefusedAreNotHalfSent(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ã", 300)
	for name, options := range cases.Sorted(map[string][]dialect.Choice{
		"too many":     slices.Repeat([]dialect.Choice{{ID: "1", Label: "A"}}, 100_000),
		"the same IDs": {{ID: "1", Label: "A"}, {ID: "1", Label: "B"}},
		"a long ID":    {{ID: long, Label: "A"}, {ID: "2", Label: "B"}},
	}) {
		texts, poll := posted(t, dialect.Choices{Text: []string{long}, Options: options})
		if len(texts) != 0 || len(poll.Options) != min(len(options), 13) {
			t.Errorf("%s: texts %q, and %d options", name, texts, len(poll.Options))
		}
	}
}

// Whatever the labels are, the options of the poll are different, and within its bounds.
func FuzzChoices(f *testing.F) {
	f.Add("A", "A", "A (2)", "question")
	f.Add("", "\xff", strings.Repeat("é", 200), strings.Repeat("q", 300))
	f.Fuzz(func(t *testing.T, first, second, third, question string) {
		_, poll := posted(t, dialect.Choices{Text: []string{question}, Options: []dialect.Choice{{ID: "1", Label: first}, {ID: "2", Label: second}, {ID: "3", Label: third}}})
		seen := map[string]bool{}
		for _, option := range poll.Options {
			if seen[option] || strings.TrimSpace(option) == "" || utf8.RuneCountInString(option) > 100 {
				t.Errorf("the options are %q", poll.Options)
			}
			seen[option] = true
		}
		if n := utf8.RuneCountInString(poll.Question); n == 0 || n > 255 {
			t.Errorf("the question has %d characters", n)
		}
	})
}
