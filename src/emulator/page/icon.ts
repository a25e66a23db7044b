/** The page's icon: a hook that sends events. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="8" fill="#3d6b66"/>
<g fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round">
<path d="M12 7v10.5a4.5 4.5 0 0 0 9 0V15"/><path d="M17.8 17.6 21 14.4l3.2 3.2"/></g>
<circle cx="12" cy="7" r="2.2" fill="#fff"/>
</svg>
`;
