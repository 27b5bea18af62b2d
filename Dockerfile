# The server in a container: one static binary, no shell, not root. To start it, see docs/guides/server.md, "In a container".
FROM golang:1.26.8 AS source
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN go run ./cmd/callvet schema openapi > web/openapi.json

FROM node:20 AS page
WORKDIR /web
COPY web/package.json web/package-lock.json web/.npmrc ./
RUN npm ci
COPY --from=source /src/web ./
RUN npx openapi-typescript openapi.json -o src/api/schema.d.ts && npm run build

FROM source AS build
COPY --from=page /web/dist/app web/dist/app
ARG VERSION=""
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w ${VERSION:+-X main.version=$VERSION}" -o /out/callvet ./cmd/callvet \
 && mkdir -p /out/data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/callvet /callvet
# A new volume has the owner of the folder that it covers.
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
WORKDIR /data
ENV HOME=/data
VOLUME /data
EXPOSE 8501
ENTRYPOINT ["/callvet"]
CMD ["serve", "--db", "/data/callvet.db", "--listen", "0.0.0.0:8501", "--log-format", "json"]
