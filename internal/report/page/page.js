"use strict";
(function () {
  var list = document.getElementById("list");
  var tools = document.querySelector(".tools");
  if (!list || !tools) return;
  var items = Array.prototype.slice.call(list.children);
  var query = document.getElementById("q");
  var pickClass = document.getElementById("class");
  var pickTarget = document.getElementById("target");
  var order = document.getElementById("sort");
  var expand = document.getElementById("expand");
  var shown = document.getElementById("shown");
  var texts = items.map(function (e) { return e.textContent.toLowerCase(); });
  var visible = [];
  function filter() {
    var q = query.value.trim().toLowerCase();
    visible = items.filter(function (e, i) {
      var keep = (!pickClass.value || e.dataset.class === pickClass.value) &&
        (!pickTarget.value || e.dataset.target === pickTarget.value) &&
        (!q || texts[i].indexOf(q) >= 0);
      e.hidden = !keep;
      return keep;
    });
    shown.textContent = visible.length.toLocaleString("en") + " of " + Number(list.dataset.total).toLocaleString("en") + " shown";
    label();
  }
  function closed(e) { return !e.open; }
  function label() { expand.textContent = visible.length && !visible.some(closed) ? "Close all" : "Open all"; }
  function sort() {
    var key = order.value;
    var sorted = items.slice();
    if (key) sorted.sort(function (a, b) { return a.dataset[key].localeCompare(b.dataset[key]); });
    sorted.forEach(function (e) { list.appendChild(e); });
  }
  query.addEventListener("input", filter);
  pickClass.addEventListener("change", filter);
  pickTarget.addEventListener("change", filter);
  order.addEventListener("change", sort);
  expand.addEventListener("click", function () {
    var open = visible.some(closed);
    visible.forEach(function (e) { e.open = open; });
    label();
  });
  list.addEventListener("toggle", label, true);
  tools.hidden = false;
  filter();
})();
