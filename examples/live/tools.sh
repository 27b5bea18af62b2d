#!/bin/sh
# Two tools as a command: one JSON line for each call on standard input, one on standard output.
#   {"id":1,"tool":"read_stock","arguments":{"item":"lamp"}}   ->   {"id":1,"result":{"item":"lamp","left":3}}
# The writing tool logs each call in orders.log, so that executed calls can be counted.
while read -r line; do
  id=${line#*\"id\":}
  id=${id%%,*}
  case $line in
  *'"tool":"read_stock"'*) echo "{\"id\":$id,\"result\":{\"item\":\"lamp\",\"left\":3},\"version\":\"1.0\"}" ;;
  *'"tool":"order"'*)
    echo "$line" >>orders.log
    echo "{\"id\":$id,\"result\":{\"order\":\"O-1\"},\"version\":\"1.0\"}"
    ;;
  *) echo "{\"id\":$id,\"error\":\"unknown tool\"}" ;;
  esac
done
