// What a template says with parameters.

package template

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxParameter is how long a parameter may be, in characters.
	maxParameter = 1024
	// MaxText is how long the text of a message may become, in characters.
	MaxText = 4096
)

// Parameters are what is put into a template: by the names of the parameters, or by their numbers in digits; those of
// buttons by the place of the button, from 0.
type Parameters struct {
	Header, Body, Buttons map[string]string
	// File says that a file for the header comes with it.
	File bool
}

// Rendered is what a template says.
type Rendered struct {
	// File is what goes out with the text below it, or FormatText where there is no file.
	File Format
	Text string
}

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
	var lines []string
	add := func(line string) {
		if line != "" {
			lines = append(lines, line)
		}
	}
	rendered := Rendered{File: FormatText}
	header := t.component(Header)
	if header.Format == FormatText {
		add(marked("*", fill(&wrong, fieldHeader, header.Text, given.Header)))
	} else {
		fill(&wrong, fieldHeader, "", given.Header)
	}
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
	add(fill(&wrong, fieldBody, t.component(Body).Text, given.Body))
	add(buttonLines(&wrong, t.component(Buttons).Buttons, given.Buttons))
	add(marked("_", t.component(Footer).Text))
	rendered.Text = strings.Join(lines, "\n\n")
	if utf8.RuneCountInString(rendered.Text) > MaxText {
		wrong.add(fieldBody, "make a text of more than %d characters", MaxText)
	}
	return rendered, wrong.err()
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

// buttonLines are what stands in the text for buttons.
func buttonLines(wrong *faults, buttons []Button, given map[string]string) string {
	var others, replies []string
	taken := map[string]bool{}
	for n, button := range buttons {
		place := strconv.Itoa(n)
		value, there := given[place]
		field := fieldButtons + "." + place
		if there {
			checkParameter(wrong, field, value)
			if strings.ContainsAny(value, " \t\r\n") && button.Does == OpenURL {
				wrong.add(field, "must have no spaces: it is a part of a URL")
			}
		}
		switch button.Does {
		case QuickReply:
			replies = append(replies, button.Text)
			taken[place] = there // what it would answer with; a line of text answers with nothing
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
	return strings.Join(append(others, replyLines(replies)...), "\n")
}

// replyLines are the answers to choose from, one a line with its number.
func replyLines(replies []string) []string {
	lines := make([]string, len(replies))
	for n, reply := range replies {
		lines[n] = strconv.Itoa(n+1) + ". " + reply
	}
	return lines
}
