package dialect_test

import (
	"cmp"
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

// posted are the messages that choices become, in order: the texts, and the last one as a poll. Answers to a text are told as
// options of a poll without a question.
func posted(t *testing.T, choices dialect.Choices) (texts []string, poll client.Poll) {
	t.Helper()
	choices.To = cmp.Or(choices.To, "5511988887766")
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
			poll.Options, poll.OptionIDs, poll.Reference = text.Options, text.OptionIDs, text.Reference
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
		{"one choice", dialect.Choices{Text: []string{"?"}, Options: []dialect.Choice{{ID: "1", Label: "A"}}}, []string{"?\n\n👇 A"}, "", []string{"A"}, []string{"1"}},
		{"one long choice", dialect.Choices{Text: []string{"?"}, Options: []dialect.Choice{{Label: long}}}, []string{"?\n\n👇 " + strings.Repeat("ã", 99) + "…"}, "", []string{strings.Repeat("ã", 99) + "…"}, []string{strings.Repeat("ã", 99) + "…"}},
		{"no choice", dialect.Choices{Text: []string{"?", "Site: https://u"}}, []string{"?\n\nSite: https://u"}, "", nil, nil},
	} {
		texts, poll := posted(t, test.choices)
		if !slices.Equal(texts, test.texts) || poll.Question != test.question || !slices.Equal(poll.Options, test.options) || !slices.Equal(poll.OptionIDs, test.ids) || poll.Reference != string(test.choices.Form) {
			t.Errorf("%s become %q and %+v", test.name, texts, poll)
		}
	}
}

// What the API will refuse is asked for without what goes before it, and costs no more than what it takes.
func TestChoicesThatAreRefusedAreNotHalfSent(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ã", 300)
	two := []dialect.Choice{{ID: "1", Label: "A"}, {ID: "2", Label: "B"}}
	for name, choices := range cases.Sorted(map[string]dialect.Choices{
		"too many":             {Options: slices.Repeat([]dialect.Choice{{ID: "1", Label: "A"}}, 100_000)},
		"the same IDs":         {Options: []dialect.Choice{{ID: "1", Label: "A"}, {ID: "1", Label: "B"}}},
		"a long ID":            {Options: []dialect.Choice{{ID: long, Label: "A"}, {ID: "2", Label: "B"}}},
		"an ID of two lines":   {Options: []dialect.Choice{{ID: "1\n2", Label: "A"}, {ID: "2", Label: "B"}}},
		"a blank ID":           {Options: []dialect.Choice{{ID: " ", Label: "A"}, {ID: "2", Label: "B"}}},
		"nothing to choose":    {Options: []dialect.Choice{{}, {ID: "2", Label: "B"}}},
		"U+0000 in a label":    {Options: []dialect.Choice{{ID: "1", Label: "A\x00"}, {ID: "2", Label: "B"}}},
		"U+0000 in the prompt": {Options: two, Prompt: "\x00"},
		"a channel":            {Options: two, To: "120363000000000000@newsletter"},
		"nobody":               {Options: two, To: "@"},
		"a long key":           {Options: two, Key: strings.Repeat("k", 254)},
	}) {
		choices.Text = []string{long}
		choices.Above = func(string) error { t.Errorf("%s: the file is sent", name); return nil }
		texts, poll := posted(t, choices)
		if len(texts) != 0 || len(poll.Options) != min(len(choices.Options), 13) {
			t.Errorf("%s: texts %q, and %d options", name, texts, len(poll.Options))
		}
	}
	for name, text := range cases.Sorted(map[string]string{"a text with U+0000": "\x00", "a text that is too long": strings.Repeat("ã", 65_537)}) {
		for _, options := range [][]dialect.Choice{two[:1], two} {
			sent := false
			texts, _ := posted(t, dialect.Choices{Text: []string{text, long}, Options: options, Above: func(string) error { sent = true; return nil }})
			if sent || len(texts) > 1 {
				t.Errorf("%s: texts %q, the file is sent: %t", name, texts, sent)
			}
		}
	}
}

// What is sent first answers the message that is quoted, and has the key of the request; the rest has not.
func TestTheFirstOfChoicesAnswers(t *testing.T) {
	t.Parallel()
	two := []dialect.Choice{{ID: "1", Label: "A"}, {ID: "2", Label: "B"}}
	for name, test := range cases.Sorted(map[string]struct {
		choices dialect.Choices
		file    bool
		want    string // of the first and the poll: what they answer, and their keys
	}{
		"a poll":                    {dialect.Choices{Text: []string{"?"}, Options: two}, false, "3EB0 key"},
		"a text and a poll":         {dialect.Choices{Text: []string{strings.Repeat("?", 300)}, Options: two}, false, "3EB0 key,  key/poll"},
		"a file and a poll":         {dialect.Choices{Text: []string{"?"}, Options: two}, true, "3EB0,  key"},
		"a file, a text and a poll": {dialect.Choices{Text: []string{strings.Repeat("?", 300)}, Options: two}, true, "3EB0,  key,  key/poll"},
	}) {
		var got []string
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var said client.Poll
			if err := json.NewDecoder(r.Body).Decode(&said); err != nil {
				t.Error(err)
			}
			got = append(got, said.QuoteMessageID+" "+r.Header.Get("Idempotency-Key"))
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"id":"1","messageId":"3EB0"}`)
		})
		test.choices.To, test.choices.Quote, test.choices.Key = "5511988887766", "3EB0", "key"
		if test.file {
			test.choices.Above = func(quote string) error { got = append(got, quote); return nil }
		}
		as := dialect.NewGateway(handler, nil).As(httptest.NewRequest(http.MethodPost, "/", http.NoBody), "test", "K")
		if _, err := test.choices.Send(t.Context(), as, "one"); err != nil || strings.Join(got, ", ") != test.want {
			t.Errorf("%s: %q (%v)", name, got, err)
		}
	}
}

// Whatever the labels are, the options of the poll are different, and within its bounds.
func FuzzChoices(f *testing.F) {
	f.Add("A", "A", "A (2)", "question")
	f.Add("\xae\xe7", "\xa6\xff", "c", strings.Repeat("q", 300))
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
