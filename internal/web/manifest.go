// What a browser needs to know to keep the dashboard as an app of its own.

package web

import (
	"encoding/json"
	"fmt"
	"path"
)

// manifestName is what pages call the manifest among the assets.
const manifestName = "recado.webmanifest"

// manifest is a web app manifest. Its colours are those of a light page: the format knows one of each.
//
//nolint:tagliatelle // the names are the standard's
type manifest struct {
	Name       string         `json:"name"`
	ShortName  string         `json:"short_name"`
	ID         string         `json:"id"`
	StartURL   string         `json:"start_url"`
	Scope      string         `json:"scope"`
	Display    string         `json:"display"`
	Background string         `json:"background_color"`
	Theme      string         `json:"theme_color"`
	Icons      []manifestIcon `json:"icons"`
}

// manifestIcon is one picture of an app.
type manifestIcon struct {
	Source  string `json:"src"`
	Sizes   string `json:"sizes"`
	Kind    string `json:"type"`
	Purpose string `json:"purpose"` // maskable pictures reach the edge, and are cut to the shape of the system's icons
}

// addManifest adds the manifest, which names the icons by their paths among the assets.
func (a *Assets) addManifest() error {
	made := manifest{
		Name: "Recado", ShortName: "Recado", ID: "/", StartURL: "/instances", Scope: "/", Display: "standalone",
		Background: "#f7f7f5", Theme: "#f7f7f5",
		Icons: []manifestIcon{
			{Source: "mark.svg", Sizes: "any", Purpose: "any"},
			{Source: "touch.png", Sizes: "180x180", Purpose: "maskable"},
		},
	}
	for n, icon := range made.Icons {
		where, err := a.URL(icon.Source)
		if err != nil {
			return err
		}
		made.Icons[n].Source, made.Icons[n].Kind = where, assetKinds[path.Ext(where)]
	}
	content, err := json.Marshal(made)
	if err != nil {
		return fmt.Errorf("web: write the manifest: %w", err)
	}
	return a.put(manifestName, content)
}
