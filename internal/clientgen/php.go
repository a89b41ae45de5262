// The PHP client: the classes of answers and events, and the words that they use.

package main

import (
	"fmt"
	"slices"
	"strings"
)

// phpFiles writes the files of the PHP client, by their names: a class for each, where its
// autoloader looks for it.
func phpFiles(m model) (map[string][]byte, error) {
	files := map[string][]byte{}
	add := func(folder, class string, write func(*phpFile)) {
		p := &phpFile{model: m}
		write(p)
		namespace := strings.TrimSuffix(`Recado\`+folder, `\`)
		files[strings.TrimPrefix(folder+"/"+class+".php", "/")] = []byte(fmt.Sprintf(phpHead, namespace) + p.imports(folder) + p.text.String())
	}
	for _, op := range m.operations {
		if err := phpCheck(m, op); err != nil {
			return nil, err
		}
	}
	add("", "Operations", (*phpFile).operations)
	add("", "EventType", (*phpFile).eventTypes)
	asked := m.asked()
	for _, o := range m.objects {
		if !asked[o.name] && (o.item == "" || len(o.fields) > 0) {
			add("Types", o.name, func(p *phpFile) { p.class(o, phpAbout(o)) })
		}
	}
	for _, e := range m.events {
		add("Types", e.name, func(p *phpFile) { p.class(e.data, "The data of the event "+e.kind+": "+lowered(e.when)) })
	}
	for _, group := range m.words {
		add("Values", phpClass(group.name), func(p *phpFile) { p.words(group) })
	}
	return files, nil
}

const phpHead = "<?php\n\n// Made of docs/openapi.yaml when the package is built.\n\ndeclare(strict_types=1);\n\nnamespace %s;\n\n"

// phpFile is a file of the client as it grows.
type phpFile struct {
	model model
	text  strings.Builder
}

func (p *phpFile) write(text string, args ...any) { fmt.Fprintf(&p.text, text, args...) }

// imports names the classes that the types use from outside of their namespace.
func (p *phpFile) imports(folder string) string {
	switch {
	case folder != "Types":
		return ""
	case strings.Contains(p.text.String(), "extends Page"):
		return "use Recado\\Json;\nuse Recado\\Page;\n\n"
	default:
		return "use Recado\\Json;\n\n"
	}
}

// doc writes a comment of paragraphs, whose lines are wrapped. The tags of arguments stand together.
func (p *phpFile) doc(indent string, paragraphs ...string) {
	paragraphs = slices.DeleteFunc(paragraphs, func(text string) bool { return text == "" })
	if len(paragraphs) == 0 {
		return
	}
	if one := indent + "/** " + paragraphs[0] + " */"; len(paragraphs) == 1 && len(one) <= 100 && !strings.Contains(one, "\n") {
		p.write("%s\n", one)
		return
	}
	p.write("%s/**\n", indent)
	for i, text := range paragraphs {
		if i > 0 && (!strings.HasPrefix(text, "@param") || !strings.HasPrefix(paragraphs[i-1], "@param")) {
			p.write("%s *\n", indent)
		}
		for line := range strings.Lines(text) {
			p.write("%s\n", phpWrapped(indent+" *", strings.TrimSuffix(line, "\n")))
		}
	}
	p.write("%s */\n", indent)
}

// phpWrapped makes lines of 100 characters at most of one that may have an indent, and may begin a
// tag or an item of a list.
func phpWrapped(prefix, text string) string {
	own := text[:len(text)-len(strings.TrimLeft(text, " "))]
	next := own
	switch strings.TrimSpace(text)[:1] {
	case "@":
		next += "    "
	case "-":
		next += "  "
	}
	var lines []string
	line := prefix + own
	for i, word := range phpWords(text) {
		if i > 0 && len(line)+1+len(word) > 100 {
			lines = append(lines, line)
			line = prefix + next
		}
		line += " " + word
	}
	return strings.Join(append(lines, line), "\n")
}

// phpWords are the words of a comment: none ends it, and one that would begin a tag at the begin of
// a line keeps to the word before it.
func phpWords(text string) (words []string) {
	for word := range strings.FieldsSeq(strings.ReplaceAll(text, "*/", "* /")) {
		if last := len(words) - 1; last >= 0 && strings.HasPrefix(word, "@") {
			words[last] += " " + word
			continue
		}
		words = append(words, word)
	}
	return words
}

// phpAbout says what an object is there for.
func phpAbout(o object) string {
	if o.description != "" {
		return o.description
	}
	text := strings.TrimPrefix(uses(o, func(u use) string { return strings.TrimSuffix(u.of+"."+u.field, ".") }), "is ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// flat are the fields of an object, with those of the objects that it includes.
func (p *phpFile) flat(o object) (fields []field) {
	for _, name := range o.includes {
		fields = append(fields, p.flat(p.model.object(name))...)
	}
	return append(fields, o.fields...)
}

// class writes the class of an object of answers.
func (p *phpFile) class(o object, about string) {
	extends, parent := "", ""
	if o.item != "" {
		about += "\n@extends Page<" + o.item + ">"
		extends, parent = " extends Page", "        parent::__construct($json, "+o.item+"::class);\n"
	}
	p.doc("", strings.Split(about, "\n")...)
	p.write("final class %s%s\n{\n", o.name, extends)
	assigned := ""
	property := func(name, declared, comment, value string) {
		p.doc("    ", comment)
		p.write("    public readonly %s $%s;\n\n", declared, name)
		assigned += fmt.Sprintf("        $this->%s = %s;\n", name, value)
	}
	for _, f := range p.flat(o) {
		f.kind.nullable = f.kind.nullable || f.optional
		declared, comment := phpType(f.kind, false), f.description
		if f.kind.nullable {
			declared = "?" + declared
		}
		if f.kind.element != nil || f.kind.base == anyObject {
			comment = strings.TrimSpace("@var " + phpDocType(f.kind, false) + " " + f.description)
		}
		property(phpName(f.name), declared, comment, phpRead(f))
	}
	for _, header := range o.answerHeaders {
		property(phpName(header.name), "bool", header.description, "$json->header('"+header.name+"') !== ''")
	}
	if o.accepts != "" {
		property("accepted", "bool", "Set if the answer is 202: "+lowered(o.accepts), "$json->status() === 202")
	}
	p.write("    /** @internal */\n    public function __construct(Json $json)\n    {\n%s%s    }\n}\n", parent, assigned)
}

// phpRead is the expression that reads a field of an answer. What an older gateway leaves out is empty.
func phpRead(f field) string {
	method, empty := phpReader(f.kind)
	class := ""
	if element := innermost(f.kind); element.base == anObject {
		class = ", " + element.object + "::class"
	}
	expression := fmt.Sprintf("$json->%s('%s'%s)", method, f.name, class)
	if f.kind.nullable {
		return expression
	}
	return expression + " ?? " + empty
}

// phpReader is the method of Json that reads a value, and what is empty.
func phpReader(k kind) (method, empty string) {
	switch k.base {
	case aTime:
		return "time", `new \DateTimeImmutable('@0')`
	case anInteger:
		return "int", "0"
	case aNumber:
		return "float", "0.0"
	case aBoolean:
		return "bool", "false"
	case aList:
		return "list", "[]"
	case aMap, anyObject:
		return "map", "[]"
	case anObject:
		return "of", "new " + k.object + "(new Json([]))"
	default: // a string, or what is written as one
		return "string", "''"
	}
}

// phpType is the type of a value that is not null, in a request or an answer.
func phpType(k kind, asked bool) string {
	switch k.base {
	case aTime:
		if asked {
			return `\DateTimeInterface`
		}
		return `\DateTimeImmutable`
	case anInteger:
		return "int"
	case aNumber:
		return "float"
	case aBoolean, aBooleanInText:
		return "bool"
	case anObject:
		if !asked {
			return k.object
		}
		return "array"
	case aList, aMap, anyObject:
		return "array"
	default:
		return "string"
	}
}

// phpDocType is the type of a value as comments have it.
func phpDocType(k kind, asked bool) string {
	var of string
	switch k.base {
	case aList:
		of = "list<" + phpDocType(*k.element, asked) + ">"
	case aMap:
		of = "array<string, " + phpDocType(*k.element, asked) + ">"
	case anyObject:
		of = "array<string, mixed>"
	case anObject:
		of = k.object
	default:
		of = phpType(k, asked)
	}
	if k.nullable {
		of += "|null"
	}
	return of
}

// eventTypes writes the types of events, and the class of the data of each.
func (p *phpFile) eventTypes() {
	p.doc("", "The types of events. A newer gateway may send others: skip those that you do not know.")
	p.write("final class EventType\n{\n")
	var classes strings.Builder
	for _, e := range p.model.events {
		p.doc("    ", e.when)
		p.write("    public const %s = '%s';\n\n", phpConstant(e.kind), e.kind)
		fmt.Fprintf(&classes, "        self::%s => Types\\%s::class,\n", phpConstant(e.kind), e.name)
	}
	p.write("    /** @internal The class of the data of each type. */\n    public const CLASSES = [\n%s    ];\n}\n", classes.String())
}

// words writes the values that a property may have.
func (p *phpFile) words(group words) {
	about := "The values of " + group.name
	if len(group.of) > 0 {
		about += ", of " + inWords(group.of, "and")
	}
	about += "."
	if group.open {
		about += " A newer gateway may have others."
	}
	p.doc("", about)
	p.write("final class %s\n{\n", phpClass(group.name))
	for _, w := range group.values {
		p.doc("    ", w.description)
		p.write("    public const %s = '%s';\n", phpConstant(w.value), w.value)
	}
	p.write("}\n")
}

// phpName is a name of the document as an argument or a property has it: messageId, and
// idempotencyKey for Idempotency-Key.
func phpName(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune(wordCharacters, r) }) {
		return lowered(name)
	}
	words := wordsOf(name)
	for i, word := range words {
		words[i] = strings.ToLower(word)
		if i > 0 {
			words[i] = strings.ToUpper(word[:1]) + words[i][1:]
		}
	}
	return strings.Join(words, "")
}

const wordCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// phpClass is a name of the document as a class.
func phpClass(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// phpConstant is a value of the document as a constant: in_pieces is IN_PIECES.
func phpConstant(value string) string { return strings.ToUpper(strings.Join(wordsOf(value), "_")) }
