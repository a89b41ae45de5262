// Words: how texts are taken apart for the search, the same on both databases.

package chattable

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	maxWord       = 64 // bytes of a word that count
	maxQueryWords = 16 // words of a search that count
)

// fold writes a text so that case and accents don't count.
func fold(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf || r >= 'A' && r <= 'Z' }) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(text))
}

// wordsOf returns the words of a text, each once: runs of letters and digits, folded. They
// have no other characters, so they mean nothing to either database.
func wordsOf(text string) []string {
	var words []string
	seen := map[string]struct{}{}
	for word := range strings.FieldsFuncSeq(fold(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) || r == utf8.RuneError }) {
		if len(word) > maxWord {
			word = strings.ToValidUTF8(word[:maxWord], "") // without a character that is cut
		}
		if _, ok := seen[word]; !ok {
			seen[word] = struct{}{}
			words = append(words, word)
		}
	}
	return words
}

// chatPart is how many characters of the identifier of a chat are in front of its words. They
// need not be unique: what is found is compared with the chat.
const chatPart = 8

// entriesOf are the entries of the index for a text in a chat: its words with a part of the
// chat's identifier in front, so that a search reads what is in its chat alone.
func entriesOf(chatID, text string) []string {
	entries := wordsOf(text)
	for n, word := range entries {
		entries[n] = entry(chatID, word)
	}
	return entries
}

func entry(chatID, word string) string {
	return chatID[max(0, len(chatID)-chatPart):] + word // the end of an identifier is random
}

// says reports whether a text has all of some words, or words that begin with them.
func says(text string, words []string) bool {
	folded := fold(text)
	for _, word := range words {
		if !strings.Contains(folded, word) { // most texts have none of them, and are not taken apart
			return false
		}
	}
	return haveAll(wordsOf(text), words)
}

// haveAll reports whether each of the beginnings is that of one of the words.
func haveAll(words, beginnings []string) bool {
	for _, beginning := range beginnings {
		if !slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, beginning) }) {
			return false
		}
	}
	return true
}
