// Names and sentences of the document, as a language has them.

package main

import (
	"regexp"
	"strings"
	"unicode"
)

// initialisms are the words that Go writes in capital letters.
const initialisms = " api id jid json lid lids ids jids qr sha256 url urls "

// goName is a name of the document as Go exports it: messageId and MESSAGE_ID are MessageID.
func goName(name string) string {
	var joined strings.Builder
	for _, word := range wordsOf(name) {
		lower := strings.ToLower(word)
		switch {
		case !strings.Contains(initialisms, " "+lower+" "):
			joined.WriteString(strings.ToUpper(lower[:1]) + lower[1:])
		case strings.HasSuffix(lower, "s"):
			joined.WriteString(strings.ToUpper(lower[:len(lower)-1]) + "s")
		default:
			joined.WriteString(strings.ToUpper(lower))
		}
	}
	return joined.String()
}

// goLowerName is a name of the document as Go names an argument.
func goLowerName(name string) string {
	first := strings.ToLower(wordsOf(name)[0])
	return first + goName(strings.TrimPrefix(strings.Join(wordsOf(name), "_"), wordsOf(name)[0]))
}

// pythonName is a name of the document as Python has it: messageId is message_id, and from, which is
// a word of the language, from_.
func pythonName(name string) string {
	snake := strings.ToLower(strings.Join(wordsOf(name), "_"))
	if strings.Contains(pythonKeywords, " "+snake+" ") {
		return snake + "_"
	}
	return snake
}

// pythonKeywords are the keywords that a name may be after it was made small.
const pythonKeywords = " and as assert async await break class continue def del elif else except finally for from global if import in is " +
	"lambda nonlocal not or pass raise return try while with yield "

// camelName is the name of JSON that the Python client takes for one of its own, unless it is told
// another one.
func camelName(name string) string {
	words := strings.Split(strings.TrimSuffix(name, "_"), "_")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

// wordsOf splits a name: messageId, message_id, MESSAGE_ID, QRCode, Idempotency-Key.
func wordsOf(name string) (words []string) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, string(word))
		}
		word = nil
	}
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
			continue
		}
		if unicode.IsUpper(r) && i > 0 {
			afterLower := !unicode.IsUpper(runes[i-1])
			beforeLower := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if afterLower || beforeLower {
				end()
			}
		}
		word = append(word, r)
	}
	end()
	return words
}

// inThirdPerson makes a statement of a command: "Send a text" becomes "sends a text". What is got
// is returned.
func inThirdPerson(command string) string {
	verb, rest, _ := strings.Cut(lowered(command), " ")
	switch {
	case verb == "get":
		verb = "returns"
	case strings.HasSuffix(verb, "y") && !strings.ContainsAny(verb[len(verb)-2:len(verb)-1], "aeiou"):
		verb = verb[:len(verb)-1] + "ies"
	case regexp.MustCompile(`(s|x|z|o|ch|sh)$`).MatchString(verb):
		verb += "es"
	default:
		verb += "s"
	}
	return verb + " " + rest
}

// lowered makes the first letter of a sentence, or a name, small, unless the word is an
// abbreviation.
func lowered(text string) string {
	if len(text) > 1 && unicode.IsUpper(rune(text[1])) {
		return text
	}
	return strings.ToLower(text[:min(1, len(text))]) + text[min(1, len(text)):]
}

// inWords joins names with commas and a word before the last one.
func inWords(names []string, before string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " " + before + " " + names[len(names)-1]
}

// null is what JSON calls nil.
var null = regexp.MustCompile(`\b([Nn])ull\b`)

// goComment makes a comment of lines of 100 characters at most.
func goComment(text string) string {
	var lines []string
	line := "//"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > 100 {
			lines = append(lines, line)
			line = "//"
		}
		line += " " + word
	}
	return strings.Join(append(lines, line), "\n")
}
