import { expect, test } from 'vitest'
import { closeMarks } from './closeMarks.ts'
import { withMathMarks } from './mathMarks.ts'

test.each([
  ['It costs $5 or $10 a month.', 'It costs \\$5 or \\$10 a month.'],
  ['$x$ and $y + z$.', '$x$ and $y + z$.'],
  ['\\(x + y\\) is a formula', '$x + y$ is a formula'],
  ['`$a` and `b$`', '`$a` and `b$`'],
  ['$$x$$ in a line', '$$x$$ in a line'],
  ['one $ alone', 'one \\$ alone'],
  ['\\$5 and $x$', '\\$5 and $x$'],
  ['\\(never closed', '\\(never closed'],
  ['$a\n\nb$', '\\$a\n\nb\\$'],
])('%s', (text, marked) => {
  expect(withMathMarks(text)).toBe(marked)
})

test.each([
  ['some **bold te', 'some **bold te**'],
  ['some **', 'some '],
  ['a `cod', 'a `cod`'],
  ['see [the docs](https://exam', 'see the docs'],
  ['whole **bold** and `code`', 'whole **bold** and `code`'],
])('closes open marks in %s', (text, finished) => {
  expect(closeMarks(text)).toBe(finished)
})
