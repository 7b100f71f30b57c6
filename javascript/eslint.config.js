import js from "@eslint/js";
import globals from "globals";

export default [
	{
		files: ["src/fdmix/report/page/*.js"],
		languageOptions: { globals: { ...globals.browser, d3: "readonly" } },
		rules: {
			...js.configs.recommended.rules,
			eqeqeq: "error",
			"no-console": "error",
			"no-eval": "error",
			"no-implied-eval": "error",
			"no-restricted-properties": [
				"error",
				...["innerHTML", "outerHTML", "insertAdjacentHTML", "write"].map((property) => ({
					property,
					message: "Text is data: make elements and text nodes with dom.js.",
				})),
			],
			"no-shadow": "error",
			"no-var": "error",
			"prefer-const": "error",
		},
	},
];
