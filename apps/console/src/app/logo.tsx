/** Lines that join one trunk. */
export function Logo({ size = 24 }: { readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" fill="none" aria-hidden="true">
      <path
        d="M3 5h3.5c3.2 0 4 7 7.5 7h7M3 12h18M3 19h3.5c3.2 0 4-7 7.5-7"
        stroke="var(--accent)"
        strokeWidth="2.2"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
      <circle cx="20.5" cy="12" r="2.2" fill="var(--accent)" />
    </svg>
  )
}
