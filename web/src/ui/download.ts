/** download saves a file on the user's computer. */
export function download(name: string, file: Blob) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
