// Package sentence says in words what an event reports: one line for people, in the reader's
// language. It is a room because it knows every kind of event, and of pages nothing.
package sentence

import (
	"embed"
	"encoding/json"
	"strings"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/web"
)

// Files are the translations of the sentences.
//
//go:embed locale
var Files embed.FS

// maxQuoted is how many characters of a text a sentence has.
const maxQuoted = 160

// Sentence is a text with what stands in its places: a Name, a Refusal, another Sentence, or a number.
type Sentence struct {
	Text web.Word
	Args []any
}

// Name is a name or a text from outside: it is not translated.
type Name string

// Refusal is why something was refused, in the words of the API.
type Refusal string

// In returns the sentence in a language.
func (s Sentence) In(words *web.Words, lang string) string {
	args := make([]any, len(s.Args))
	for n, arg := range s.Args {
		switch arg := arg.(type) {
		case Sentence:
			args[n] = arg.In(words, lang)
		case Refusal:
			args[n] = words.Said(lang, string(arg))
		case Name:
			args[n] = web.Isolate(string(arg))
		default:
			args[n] = arg
		}
	}
	return words.Text(lang, s.Text, args...)
}

// Names are what chats are called, by their ids.
type Names map[string]string

// Of returns what an event reports. There is a sentence for every event, also for one whose data
// nobody has thought of.
func Of(event eventlog.Event, names Names) Sentence {
	data := facts{names: names}
	if json.Unmarshal(event.Data, &data) == nil {
		if tell := tellers()[event.Kind]; tell != nil {
			if told := tell(data); told.Text != "" {
				return told
			}
		}
	}
	return Sentence{web.Word("An event of the type %s"), []any{Name(event.Kind)}}
}

// Unnamed returns the chats of events in whose data nobody has a name.
func Unnamed(events []eventlog.Event) []string {
	var chats []string
	seen := map[string]bool{}
	for _, event := range events {
		var data facts
		if json.Unmarshal(event.Data, &data) != nil {
			continue
		}
		for _, chat := range []string{data.Chat, data.GroupID} {
			if chat != "" && !seen[chat] && (data.From.called() == "" || isGroup(chat)) {
				seen[chat] = true
				chats = append(chats, chat)
			}
		}
	}
	return chats
}

// facts are the fields of the data of all kinds that sentences are made of.
type facts struct {
	names Names

	Chat         string    `json:"chat"`
	GroupID      string    `json:"groupId"`
	From         *person   `json:"from"`
	Participant  *person   `json:"participant"`
	Participants []*person `json:"participants"`
	People       []*person `json:"people"`
	JID          string    `json:"jid"`
	LID          string    `json:"lid"`
	Name         string    `json:"name"`

	Type     string `json:"type"`
	Text     string `json:"text"`
	Caption  string `json:"caption"`
	Source   string `json:"source"`
	Reaction string `json:"reaction"`
	Question string `json:"question"`
	Response string `json:"response"`
	Media    struct {
		FileName string `json:"fileName"`
	} `json:"media"`
	Options []string `json:"options"`
	Failure struct {
		Message string `json:"message"`
	} `json:"failure"`
	PinnedUntil string `json:"pinnedUntil"`
	Starred     bool   `json:"starred"`

	Status         string   `json:"status"`
	PreviousStatus string   `json:"previousStatus"`
	Reason         string   `json:"reason"`
	State          string   `json:"state"`
	Attempt        int      `json:"attempt"`
	Change         string   `json:"change"`
	Changed        []string `json:"changed"`
	Archived       bool     `json:"archived"`
	Pinned         bool     `json:"pinned"`
	MutedUntil     string   `json:"mutedUntil"`
	Unread         int64    `json:"unreadCount"`
	MarkedUnread   bool     `json:"markedUnread"`
	Presence       string   `json:"presence"`
	Video          bool     `json:"video"`
	Answered       bool     `json:"answered"`
	Messages       int64    `json:"messages"`
	LabelID        string   `json:"labelId"`
	MessageID      string   `json:"messageId"`
	Deleted        bool     `json:"deleted"`
	Assigned       bool     `json:"assigned"`
	ChannelID      string   `json:"channelId"`
	LinkedGroup    string   `json:"linkedGroup"`
	FromSequence   int64    `json:"fromSequence"`
	ToSequence     int64    `json:"toSequence"`
	Message        string   `json:"message"`
}

// person is somebody in the data.
type person struct {
	JID  string `json:"jid"`
	LID  string `json:"lid"`
	Name string `json:"name"`
}

func (p *person) called() string {
	if p == nil {
		return ""
	}
	return p.Name
}

// say makes a sentence.
func say(text web.Word, args ...any) Sentence { return Sentence{text, args} }

// somebody is who is not known.
func somebody() Sentence { return say(web.Word("Somebody")) }

// address is how a chat or a person without a name is shown.
func (f facts) address(chat string) any {
	if name := f.names[chat]; name != "" {
		return quoted(name)
	}
	number, host, _ := strings.Cut(chat, "@")
	switch {
	case chat == "":
		return somebody()
	case chat == string(gateway.StatusChat):
		return say(web.Word("the status posts"))
	case host == gateway.PersonalSuffix:
		return Name("+" + number)
	default:
		return Name(number)
	}
}

// who is somebody, by name where there is one.
func (f facts) who(p *person) any {
	switch {
	case p == nil:
		return somebody()
	case p.Name != "":
		return quoted(p.Name)
	case p.JID != "":
		return f.address(p.JID)
	default:
		return f.address(p.LID)
	}
}

// with is who the chat is with. The name of its author is that of a chat between two.
func (f facts) with() any {
	if f.From.called() != "" && f.Chat == f.From.JID {
		return quoted(f.From.Name)
	}
	return f.address(f.Chat)
}

// author is who has done something in a chat.
func (f facts) author() any {
	if f.From == nil {
		return f.address(f.Chat)
	}
	return f.who(f.From)
}

// all are several people.
func (f facts) all(people []*person) any {
	switch len(people) {
	case 0:
		return somebody()
	case 1:
		return f.who(people[0])
	default:
		return say(web.Word("%s and %d more"), f.who(people[0]), len(people)-1)
	}
}

// group is the group that the event is about.
func (f facts) group() any { return f.address(f.GroupID) }

// quoted is a text of others in one line, and within bounds.
func quoted(text string) Name {
	text = gateway.CleanName(strings.Join(strings.Fields(gateway.CleanText(text, gateway.MaxName)), " "))
	if cut := gateway.CleanText(text, maxQuoted); cut != text {
		return Name(cut + "…")
	}
	return Name(text)
}

func isGroup(chat string) bool { return gateway.JID(chat).IsGroup() }
