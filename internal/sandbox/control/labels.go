// The labels of phones.

package control

import (
	"net/http"

	"github.com/recado-project/recado/internal/sandbox/label"
)

// listLabels answers with the labels of a phone, and where they are.
func (a *api) listLabels(r *http.Request) (any, error) {
	labels, err := a.config.Labels.Of(r.Context(), r.PathValue("number"))
	return list[label.Label]{labels}, err
}

// setLabel makes a label, or changes it.
func (a *api) setLabel(r *http.Request) (any, error) {
	var body struct {
		Name  string `json:"name"`
		Color int32  `json:"color"`
	}
	if err := decode(r, &body, false); err != nil {
		return nil, err
	}
	return nil, a.config.Labels.Set(r.Context(), r.PathValue("number"), r.PathValue("label"), body.Name, body.Color)
}

func (a *api) deleteLabel(r *http.Request) (any, error) {
	return nil, a.config.Labels.Delete(r.Context(), r.PathValue("number"), r.PathValue("label"))
}

// labelChat puts a label on a chat, or takes it away.
func (a *api) labelChat(r *http.Request) (any, error) {
	return nil, a.config.Labels.PutOnChat(r.Context(), r.PathValue("number"), r.PathValue("chat"), r.PathValue("label"), r.Method == http.MethodPut)
}

// labelMessage puts a label on a message, or takes it away.
func (a *api) labelMessage(r *http.Request) (any, error) {
	return nil, a.config.Labels.PutOnMessage(r.Context(), r.PathValue("number"), r.PathValue("message"), r.PathValue("label"), r.Method == http.MethodPut)
}
