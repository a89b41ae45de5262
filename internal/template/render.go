// What a template says with parameters.

package template

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxParameter is how long a parameter may be, in characters.
	maxParameter = 1024
	// maxPayload is how long that may be with which a quick reply answers, in characters.
	maxPayload = 256
	// MaxText is how long the text of a message may become, in characters.
	MaxText = 4096
	// maxQuestion is how long the question of a poll may be, in characters, and leastInPoll how many options it has at least.
	maxQuestion = 255
	leastInPoll = 2
)

// Parameters are what is put into a template: by the names of the parameters, or by their numbers in digits; those of
// buttons by the place of the button, from 0.
type Parameters struct {
	Header, Body, Buttons map[string]string
	// File says that a file for the header comes with it.
	File bool
	// NoPoll says that quick replies become lines of the text in any case.
	NoPoll bool
}

// Rendered is what a template says.
type Rendered struct {
	// File is what goes out with the text below it, or FormatText where there is no file.
	File Format
	Text string
	// Replies are the quick replies. Poll says that they are the options of a poll, whose question is the text; else they are
	// lines of it.
	Replies []Reply
	Poll    bool
}

// Reply is a quick reply, and what it answers with: what was given for it, or else what is written on it.
type Reply struct{ ID, Text string }

// The names of Parameters in requests, for errors.
const (
	fieldHeader  = "headerParameters"
	fieldBody    = "bodyParameters"
	fieldButtons = "buttonParameters"
	fieldFile    = "media"
)

// Render puts parameters into the template. Parameters that are missing, that it does not have, or that are too long are
// a gateway.Invalid that names each.
func (t *Template) Render(given Parameters) (Rendered, error) {
	var wrong faults
	rendered := Rendered{File: FormatText}
	header := t.component(Header)
	above := header.Text
	if header.Format != FormatText {
		above = ""
	}
	above = fill(&wrong, fieldHeader, above, given.Header)
	isFile := header.Format != FormatText && header.Format != ""
	if isFile {
		rendered.File = header.Format
	}
	switch {
	case isFile && !given.File:
		wrong.add(fieldFile, "is missing: the header is a file (%s)", header.Format)
	case !isFile && given.File:
		wrong.add(fieldFile, "must be left out: the header is no file")
	}
	body := fill(&wrong, fieldBody, t.component(Body).Text, given.Body)
	others, replies := readButtons(&wrong, t.component(Buttons).Buttons, given.Buttons)
	footer := t.component(Footer).Text
	rendered.Replies = replies
	// A question is shown without bold and italics.
	rendered.Text = paragraphs(strings.TrimSpace(above), body, strings.Join(others, "\n"), strings.TrimSpace(footer))
	rendered.Poll = !isFile && !given.NoPoll && areOptions(replies) && utf8.RuneCountInString(rendered.Text) <= maxQuestion
	if !rendered.Poll {
		lines := slices.Concat(others, replyLines(replies))
		rendered.Text = paragraphs(marked("*", above), body, strings.Join(lines, "\n"), marked("_", footer))
	}
	if utf8.RuneCountInString(rendered.Text) > MaxText {
		wrong.add(fieldBody, "make a text of more than %d characters", MaxText)
	}
	return rendered, wrong.err()
}

// paragraphs joins what there is.
func paragraphs(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "\n\n")
}

// areOptions reports whether quick replies can be the options of a poll: there are several, and each is different.
func areOptions(replies []Reply) bool {
	texts, ids := map[string]bool{}, map[string]bool{}
	for _, reply := range replies {
		texts[reply.Text], ids[reply.ID] = true, true
	}
	return len(replies) >= leastInPoll && len(texts) == len(replies) && len(ids) == len(replies)
}

// marked puts a mark around a line, which phones show in bold or italics for it; a text that they would show otherwise
// stays as it is.
func marked(with, text string) string {
	if text = strings.TrimSpace(text); text == "" || strings.ContainsAny(text, "\r\n"+with) {
		return text
	}
	return with + text + with
}

// fill puts parameters into a text. field names them, for errors.
func fill(wrong *faults, field, text string, given map[string]string) string {
	names := placeholders(text)
	for _, name := range names {
		if value, ok := given[name]; !ok {
			wrong.add(field+"."+name, "is missing")
		} else {
			checkParameter(wrong, field+"."+name, value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			wrong.add(field+"."+shortened(name), "is no parameter of the template")
		}
	}
	// In one pass: what is put in is not searched for parameters again.
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		return given[placeholder.FindStringSubmatch(found)[1]]
	})
}

func checkParameter(wrong *faults, field, value string) {
	if !fits(value, maxParameter) {
		wrong.add(field, "must have 1 to %d characters", maxParameter)
	}
}

// shortened bounds a name that a client has made up.
func shortened(name string) string {
	const most = 64
	if len(name) > most {
		name = name[:most] + "…"
	}
	return strings.ToValidUTF8(name, "�")
}

// readButtons returns what stands in the text for buttons, and the quick replies.
func readButtons(wrong *faults, buttons []Button, given map[string]string) (others []string, replies []Reply) {
	taken := map[string]bool{}
	for n, button := range buttons {
		place := strconv.Itoa(n)
		value, there := given[place]
		field := fieldButtons + "." + place
		if there {
			checkButton(wrong, field, button, value)
		}
		switch button.Does {
		case QuickReply:
			if taken[place] = there; !there {
				value = button.Text
			}
			replies = append(replies, Reply{ID: value, Text: button.Text})
		case OpenURL:
			if names := placeholders(button.URL); len(names) == 1 {
				if taken[place] = true; !there {
					wrong.add(field, "is missing")
				}
			}
			others = append(others, button.Text+": "+placeholder.ReplaceAllLiteralString(button.URL, value))
		case Call:
			others = append(others, button.Text+": "+button.PhoneNumber)
		case CopyCode:
			taken[place] = true
			if !there {
				value = button.Example
			}
			others = append(others, strings.TrimPrefix(button.Text+": "+value, ": "))
		}
	}
	for _, place := range slices.Sorted(maps.Keys(given)) {
		if !taken[place] {
			wrong.add(fieldButtons+"."+shortened(place), "is no parameter of the template")
		}
	}
	return others, replies
}

// checkButton checks the parameter of a button.
func checkButton(wrong *faults, field string, button Button, value string) {
	if button.Does == QuickReply {
		if !fits(value, maxPayload) || strings.ContainsFunc(value, unicode.IsControl) {
			wrong.add(field, "must have 1 to %d characters in one line", maxPayload)
		}
		return
	}
	checkParameter(wrong, field, value)
	if strings.ContainsAny(value, " \t\r\n") && button.Does == OpenURL {
		wrong.add(field, "must have no spaces: it is a part of a URL")
	}
}

// replyLines are the answers to choose from, one a line with its number.
func replyLines(replies []Reply) []string {
	lines := make([]string, len(replies))
	for n, reply := range replies {
		lines[n] = strconv.Itoa(n+1) + ". " + reply.Text
	}
	return lines
}
