import type { Plugin } from 'vite'

/** Every browser that shows Steward reads WOFF2: the other forms of KaTeX's fonts are left out of the build. */
export function onlyWoff2(): Plugin {
  return {
    name: 'only-woff2',
    enforce: 'pre',
    transform: {
      filter: { id: /katex[\\/]dist[\\/]katex.*\.css$/ },
      handler: (code) => ({ code: withoutOtherFonts(code), map: null }),
    },
  }
}

function withoutOtherFonts(css: string): string {
  return css.replaceAll(/,\s*url\([^)]*\.(?:woff|ttf)\)\s*format\(["'](?:woff|truetype)["']\)/g, '')
}
