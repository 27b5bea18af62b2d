// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package web holds the files of the page. They are built by "make web" into dist/app, which is not
// in the repository; a binary without them serves dist/unbuilt.html, which explains how to build them.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var files embed.FS

// Files has the files of the page: index.html and assets/ after "make web", else only unbuilt.html.
func Files() (fs.FS, error) {
	if built, err := fs.Sub(files, "dist/app"); err == nil {
		if _, err := fs.Stat(built, "index.html"); err == nil {
			return built, nil
		}
	}
	return fs.Sub(files, "dist")
}
