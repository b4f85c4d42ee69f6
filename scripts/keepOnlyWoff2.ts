import type { Plugin } from 'vite'

/** Excludes the other formats of KaTeX's fonts from the build, because every supported browser supports WOFF2. */
export function keepOnlyWoff2(): Plugin {
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
