package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
)

// newForm makes the body of a request with a file, and its type. The file is read while the
// body is. The fields are those of a JSON object.
func newForm(object []byte, file File) (body io.Reader, contentType string, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return nil, "", fmt.Errorf("encode the request: %w", err)
	}
	var head bytes.Buffer
	form := multipart.NewWriter(&head) // writing to a buffer never fails
	for name, value := range fields {
		for _, text := range formTexts(value) {
			_ = form.WriteField(name, text)
		}
	}
	if file.Name == "" {
		_, _ = form.CreateFormField("file")
	} else {
		_, _ = form.CreateFormFile("file", file.Name)
	}
	begun := bytes.Clone(head.Bytes())
	head.Reset()
	_ = form.Close()
	return io.MultiReader(bytes.NewReader(begun), file.Content, &head), form.FormDataContentType(), nil
}

// formTexts are the texts of a field: several of a list, none of null.
func formTexts(value json.RawMessage) []string {
	var text string
	var list []json.RawMessage
	switch {
	case string(value) == "null":
		return nil
	case json.Unmarshal(value, &text) == nil:
		return []string{text}
	case json.Unmarshal(value, &list) == nil:
		var texts []string
		for _, item := range list {
			texts = append(texts, formTexts(item)...)
		}
		return texts
	default:
		return []string{string(value)}
	}
}
