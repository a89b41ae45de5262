// The Python client.

package main

import (
	"fmt"
	"slices"
	"strings"
)

// pythonFiles writes the generated modules of the Python client, by their names.
func pythonFiles(m model) (map[string][]byte, error) {
	p := &pythonFile{model: m}
	p.types()
	files := map[string][]byte{"types.py": []byte(p.text.String())}
	p = &pythonFile{model: m}
	p.operations()
	files["_operations.py"] = []byte(p.text.String())
	return files, nil
}

const pythonHead = "# Code generated from docs/openapi.yaml. DO NOT EDIT.\n"

// pythonWidth is how many characters a line of a docstring has at most.
const pythonWidth = 100

// pythonFile is a module of the client as it grows.
type pythonFile struct {
	model model
	text  strings.Builder
}

func (p *pythonFile) write(text string, args ...any) { fmt.Fprintf(&p.text, text, args...) }

// docstring writes a docstring. Its paragraphs are divided by an empty line, and what a paragraph
// hangs on itself (arguments) follows it line by line, indented.
func (p *pythonFile) docstring(indent string, paragraphs ...string) {
	var lines []string
	for i, paragraph := range paragraphs {
		if i > 0 {
			lines = append(lines, "")
		}
		for n, text := range strings.Split(paragraph, "\n") {
			text = strings.ReplaceAll(null.ReplaceAllString(text, "None"), `\`, `\\`)
			if n == 0 {
				lines = append(lines, wrapped(text, indent, indent)...)
			} else {
				lines = append(lines, wrapped(text, indent+"    ", indent+"        ")...)
			}
		}
	}
	text := strings.TrimSpace(strings.Join(lines, "\n"))
	switch {
	case len(lines) > 1:
		text += "\n" + indent
	case strings.HasSuffix(text, `"`):
		text = strings.TrimSuffix(text, `"`) + `\"`
	}
	p.write("%s\"\"\"%s\"\"\"\n", indent, text)
}

// wrapped divides a text into lines, with a start for the first and one for the others.
func wrapped(text, first, others string) (lines []string) {
	line := first
	for word := range strings.FieldsSeq(text) {
		if len(line)+len(word) > pythonWidth && line != first {
			lines = append(lines, strings.TrimRight(line, " "))
			line = others
		}
		line += word + " "
	}
	return append(lines, strings.TrimRight(line, " "))
}

// sentence begins with a capital letter and ends in a full stop.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// types writes the objects that are asked and answered, and the events.
func (p *pythonFile) types() {
	p.write(pythonHead)
	p.docstring("", "What requests take, what answers carry, and the events.",
		"Newer gateways may send fields, values and kinds of events that are not here: nothing breaks of them.")
	p.write("\nfrom __future__ import annotations\n\n")
	p.write("from collections.abc import Mapping, Sequence\nfrom dataclasses import dataclass\nfrom datetime import datetime\n")
	p.write("from typing import Annotated, Any, Literal\n\n")
	p.write("from ._json import UNSET, Unset\nfrom ._records import Event, EventMediaLink, FieldError, Page\n\n")
	p.write("__all__ = [\n")
	for _, name := range p.exported() {
		p.write("    %q,\n", name)
	}
	p.write("]\n")
	asked := p.model.asked()
	written := map[string]bool{}
	var write func(o object)
	write = func(o object) {
		if o.name == "" || written[o.name] {
			return
		}
		written[o.name] = true
		for _, base := range append(slices.Clone(o.includes), o.item) { // which a class comes after
			write(p.model.object(base))
		}
		p.class(o, sentence(strings.TrimPrefix(uses(o, pythonUse), "is ")), asked[o.name])
	}
	for _, o := range p.model.objects {
		write(o)
	}
	for _, e := range p.model.events {
		data := e.data
		data.name = pythonData(e)
		p.class(data, sentence("The data of "+e.name+": "+lowered(e.when)), false)
		p.write("\n\n@dataclass(frozen=True, kw_only=True)\nclass %s(Event):\n", e.name)
		p.docstring("    ", fmt.Sprintf("%s The type is %s.", sentence(e.when), e.kind))
		p.write("\n    data: %s\n", data.name)
	}
	p.write("\n\n# The classes of the types of events.\nEVENT_CLASSES: Mapping[str, type[Event]] = {\n")
	for _, e := range p.model.events {
		p.write("    %q: %s,\n", e.kind, e.name)
	}
	p.write("}\n")
}

// exported lists the names of the module for programs.
func (p *pythonFile) exported() []string {
	names := []string{"Event", "EventMediaLink", "FieldError", "Page", "UNSET", "Unset"}
	for _, o := range p.model.objects {
		names = append(names, o.name)
	}
	for _, e := range p.model.events {
		names = append(names, e.name, pythonData(e))
	}
	slices.Sort(names)
	return names
}

// pythonData is the name of the class of an event's data.
func pythonData(e event) string { return strings.TrimSuffix(e.name, "Event") + "Data" }

// pythonUse names a place that uses an object.
func pythonUse(u use) string {
	switch {
	case u.field != "":
		return u.of + "." + pythonName(u.field)
	case u.role == asPart:
		return u.of
	default:
		return pythonName(u.of)
	}
}

// class writes the class of an object. Requests have those that are asked.
func (p *pythonFile) class(o object, about string, asked bool) {
	bases := ""
	if parents := slices.Clone(o.includes); len(parents) > 0 || o.item != "" {
		if o.item != "" {
			parents = append(parents, "Page["+o.item+"]")
		}
		bases = "(" + strings.Join(parents, ", ") + ")"
	}
	p.write("\n\n@dataclass(frozen=True, kw_only=True)\nclass %s%s:\n", o.name, bases)
	p.docstring("    ", about)
	if o.item != "" {
		p.write("\n    data: list[%s]\n", o.item)
	}
	blank := o.item == ""
	field := func(name, pythonType, description string) {
		if blank {
			p.write("\n")
			blank = false
		}
		p.write("    %s: %s\n", name, pythonType)
		if description != "" {
			p.docstring("    ", description)
			blank = true
		}
	}
	for _, f := range o.fields {
		given := pythonField(f, asked, "")
		name := pythonName(f.name)
		if camelName(name) != f.name {
			kind, value, found := strings.Cut(given, " = ")
			given = fmt.Sprintf("Annotated[%s, %q]", kind, f.name)
			if found {
				given += " = " + value
			}
		}
		field(name, given, f.description)
	}
	for _, header := range o.answerHeaders {
		field(pythonName(header.name), "bool = False", header.description)
	}
	if o.accepts != "" {
		field("accepted", "bool = False", "Set if the answer is 202: "+lowered(o.accepts))
	}
}

// pythonField is the type of a field, with its default. A request leaves out what is None, unless
// the field may be null.
func pythonField(f field, asked bool, module string) string {
	kind := pythonKind(f.kind, asked, module)
	switch {
	case f.clearable && f.optional:
		return kind + " | None | Unset = UNSET"
	case f.optional && !f.orFile:
		return kind + " | None = None"
	case f.kind.nullable:
		return kind + " | None"
	default:
		return kind
	}
}

// pythonKind is the type of a value, of a class that is in a module or in none. A request may have any
// sequence for a list.
func pythonKind(k kind, asked bool, module string) string {
	list, mapping := "list", "dict"
	if asked {
		list, mapping = "Sequence", "Mapping"
	}
	switch k.base {
	case aTime:
		return "datetime"
	case anInteger:
		return "int"
	case aNumber:
		return "float"
	case aBoolean, aBooleanInText:
		return "bool"
	case aList:
		return list + "[" + pythonKind(*k.element, asked, module) + "]"
	case aMap:
		return mapping + "[str, " + pythonKind(*k.element, asked, module) + "]"
	case anObject:
		return module + k.object
	case anyObject:
		return mapping + "[str, Any]"
	default:
		if len(k.values) == 0 {
			return "str"
		}
		var quoted []string
		for _, value := range k.values {
			quoted = append(quoted, fmt.Sprintf("%q", value))
		}
		return "Literal[" + strings.Join(quoted, ", ") + "]"
	}
}

// operations writes the methods of both classes.
func (p *pythonFile) operations() {
	p.write(pythonHead)
	p.docstring("", "A method for each operation of the API.")
	p.write("\nfrom __future__ import annotations\n\n")
	p.write("from abc import ABC, abstractmethod\nfrom collections.abc import AsyncIterator, Iterator, Mapping, Sequence\n")
	p.write("from datetime import datetime\nfrom types import NoneType\nfrom typing import Any, Literal, TypeVar\n\n")
	p.write("from . import types as t\nfrom ._json import UNSET, Unset\nfrom ._pages import async_items, items\nfrom ._request import segment\n\n")
	p.write("Answer = TypeVar(\"Answer\")\n")
	for _, async := range []string{"", "async "} {
		name, about := "Operations", "The operations of the API, as methods."
		if async != "" {
			name, about = "AsyncOperations", "The operations of the API, as methods to be awaited."
		}
		p.write("\n\nclass %s(ABC):\n", name)
		p.docstring("    ", about)
		p.write("\n    @abstractmethod\n    %sdef _call(\n        self,\n        answer: type[Answer],\n        method: str,\n        path: str,\n        *,\n", async)
		p.write("        query: Mapping[str, Any] | None = None,\n        headers: Mapping[str, str | None] | None = None,\n")
		p.write("        body: object = None,\n        told: Mapping[str, str] | None = None,\n    ) -> Answer:\n")
		p.docstring("        ", "Makes a request, and returns its answer. `told` are fields of the answer that say whether it has a header.")
		for _, op := range p.model.operations {
			p.method(op, async)
			if op.paged {
				p.iterator(op, async)
			}
		}
	}
}

// pythonArgument is an argument of a method.
type pythonArgument struct{ name, kind, description string }

// inQuery are the arguments for the query, without page and limit.
func inQuery(op operation) (all []pythonArgument) {
	for _, q := range op.query {
		all = append(all, pythonArgument{pythonName(q.name), pythonKind(q.kind, true, "t.") + " | None = None", q.description})
	}
	return all
}

// inPath are the arguments for the path.
func inPath(op operation) (all []pythonArgument) {
	for _, in := range op.inPath {
		all = append(all, pythonArgument{pythonName(in.name), "str", in.description})
	}
	return all
}

// arguments are those of the method of an operation.
func (p *pythonFile) arguments(op operation) []pythonArgument {
	all := append(inPath(op), inQuery(op)...)
	for _, f := range p.model.object(op.body).fields {
		all = append(all, pythonArgument{pythonName(f.name), pythonField(f, true, "t."), f.description})
	}
	for _, h := range op.headers {
		all = append(all, pythonArgument{pythonName(h.name), pythonKind(h.kind, true, "t.") + " | None = None", h.description})
	}
	if op.paged {
		all = append(all, pythonArgument{"page", "int | None = None", "The page, counted from 1."},
			pythonArgument{"limit", "int | None = None", "How many items a page has."})
	}
	slices.SortStableFunc(all, func(a, b pythonArgument) int { return defaults(a) - defaults(b) })
	return all
}

// defaults is 1 for an argument that may be left out.
func defaults(a pythonArgument) int {
	if strings.Contains(a.kind, " = ") {
		return 1
	}
	return 0
}

// signature writes the line, or the lines, that declare a method.
func (p *pythonFile) signature(async, name string, arguments []pythonArgument, answer string) {
	p.write("\n    %sdef %s(", async, name)
	if len(arguments) == 0 {
		p.write("self) -> %s:\n", answer)
		return
	}
	p.write("\n        self,\n        *,\n")
	for _, argument := range arguments {
		p.write("        %s: %s,\n", argument.name, argument.kind)
	}
	p.write("    ) -> %s:\n", answer)
}

// about writes the docstring of a method.
func (p *pythonFile) about(arguments []pythonArgument, paragraphs ...string) {
	described := []string{"Args:"}
	for _, argument := range arguments {
		if argument.description != "" {
			described = append(described, argument.name+": "+argument.description)
		}
	}
	if len(described) > 1 {
		paragraphs = append(paragraphs, strings.Join(described, "\n"))
	}
	p.docstring("        ", paragraphs...)
}

// method writes the method of an operation.
func (p *pythonFile) method(op operation, async string) {
	answer, kind := "None", "NoneType"
	if op.answer != "" {
		answer, kind = "t."+op.answer, "t."+op.answer
	}
	arguments := p.arguments(op)
	p.signature(async, pythonName(op.id), arguments, answer)
	paragraphs := []string{sentence(op.summary)}
	if op.description != "" {
		paragraphs = append(paragraphs, sentence(op.description))
	}
	if len(op.codes) > 0 {
		paragraphs = append(paragraphs, "Its refusals may have the codes "+inWords(op.codes, "or")+", and those of every operation.")
	}
	p.about(arguments, paragraphs...)
	given := []string{kind, fmt.Sprintf("%q", op.method), pythonPath(op)}
	if query := p.query(op); query != "" {
		given = append(given, "query="+query)
	}
	if len(op.headers) > 0 {
		var headers []string
		for _, h := range op.headers {
			headers = append(headers, fmt.Sprintf("%q: %s", h.name, pythonName(h.name)))
		}
		given = append(given, "headers={"+strings.Join(headers, ", ")+"}")
	}
	if op.body != "" {
		var fields []string
		for _, f := range p.model.object(op.body).fields {
			fields = append(fields, fmt.Sprintf("                %[1]s=%[1]s,\n", pythonName(f.name)))
		}
		given = append(given, "body=t."+op.body+"(\n"+strings.Join(fields, "")+"            )")
	}
	if len(op.answerHeaders) > 0 {
		var told []string
		for _, h := range op.answerHeaders {
			told = append(told, fmt.Sprintf("%q: %q", camelName(pythonName(h.name)), h.name))
		}
		given = append(given, "told={"+strings.Join(told, ", ")+"}")
	}
	start := ""
	if async != "" {
		start = "await "
	}
	if op.answer != "" {
		start = "return " + start
	}
	p.write("        %sself._call(\n", start)
	for _, argument := range given {
		p.write("            %s,\n", argument)
	}
	p.write("        )\n")
}

// query is the expression of the query; empty for none.
func (p *pythonFile) query(op operation) string {
	var given []string
	for _, q := range op.query {
		given = append(given, fmt.Sprintf("%q: %s", q.name, pythonName(q.name)))
	}
	if op.paged {
		given = append(given, `"page": page`, `"limit": limit`)
	}
	if len(given) == 0 {
		return ""
	}
	return "{" + strings.Join(given, ", ") + "}"
}

// pythonPath is the expression of a path.
func pythonPath(op operation) string {
	path, formatted := op.path, ""
	for _, in := range op.inPath {
		path = strings.ReplaceAll(path, "{"+in.name+"}", "{segment("+pythonName(in.name)+")}")
		formatted = "f"
	}
	return formatted + `"` + path + `"`
}

// iterator writes the method that yields all items of a list.
func (p *pythonFile) iterator(op operation, async string) {
	arguments := append(inPath(op), inQuery(op)...)
	sequence, function := "Iterator", "items"
	if async != "" {
		sequence, function = "AsyncIterator", "async_items"
	}
	name := pythonName(op.id)
	p.signature("", strings.TrimPrefix(name, "list_"), arguments, sequence+"[t."+p.model.object(op.answer).item+"]")
	p.about(arguments, fmt.Sprintf("Yields all items of %s, fetched page by page.", name))
	var given []string
	for _, argument := range arguments {
		given = append(given, fmt.Sprintf("%[1]s=%[1]s", argument.name))
	}
	given = append(given, "page=page")
	p.write("        return %s(\n            lambda page: self.%s(%s),\n        )\n", function, name, strings.Join(given, ", "))
}
