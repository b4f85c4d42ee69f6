/** Creates a line to type into a shell, and its expected output, which the typed line does not contain. */
export function createTypedLine(index: number): { line: string; answer: string } {
  return { line: `echo a$((${1000 + index}))b`, answer: `a${1000 + index}b` }
}
