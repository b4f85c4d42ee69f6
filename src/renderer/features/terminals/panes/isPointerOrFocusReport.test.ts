import { expect, test } from 'vitest'
import { isPointerOrFocusReport } from './isPointerOrFocusReport.ts'

test.each(['\u001b[<0;12;4M', '\u001b[<35;12;4m', '\u001b[M !!', '\u001b[I', '\u001b[O'])(
  '%j is a pointer or focus report',
  (text) => expect(isPointerOrFocusReport(text)).toBe(true),
)

test.each(['a', '\r', '\u001b', '\u001b[A', '\u001bOM', '\u001b[200~M\u001b[201~', '\u0003'])(
  '%j is user input',
  (text) => expect(isPointerOrFocusReport(text)).toBe(false),
)
